// Package binder stands in for a CSI driver: for a claim whose node the scheduler has chosen it makes a volume in
// that node's zone, as a driver of zonal disks does.
package binder

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	// Driver is what StorageClasses name as their provisioner to be served.
	Driver = "disks.e2e.taffrail.dev"

	selectedNode = "volume.kubernetes.io/selected-node"
	provisioner  = "volume.kubernetes.io/storage-provisioner"
	provisionedB = "pv.kubernetes.io/provisioned-by"
)

// Run serves claims until the context ends. Delay is how long making a disk takes.
func Run(ctx context.Context, client kubernetes.Interface, delay time.Duration) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	claims := factory.Core().V1().PersistentVolumeClaims()
	queue := workqueue.NewTypedDelayingQueue[cache.ObjectName]()
	defer queue.ShutDown()
	add := func(object any) {
		claim := object.(*corev1.PersistentVolumeClaim)
		if wants(claim) {
			queue.AddAfter(cache.MetaObjectToName(claim), delay)
		}
	}
	_, err := claims.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, object any) { add(object) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go func() {
		<-ctx.Done()
		queue.ShutDown()
	}()
	for {
		name, ended := queue.Get()
		if ended {
			return nil
		}
		claim, err := claims.Lister().PersistentVolumeClaims(name.Namespace).Get(name.Name)
		if err == nil && wants(claim) {
			err = serve(ctx, client, claim)
		}
		queue.Done(name)
		if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			fmt.Printf("binder: %s: %v\n", name, err)
			queue.AddAfter(name, time.Second)
		}
	}
}

func wants(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Spec.VolumeName == "" && claim.DeletionTimestamp == nil &&
		claim.Annotations[provisioner] == Driver && claim.Annotations[selectedNode] != ""
}

// serve makes the claim's volume; one whose node is gone or in no zone gives the choice back to the scheduler,
// as external-provisioner does.
func serve(ctx context.Context, client kubernetes.Interface, claim *corev1.PersistentVolumeClaim) error {
	node, err := client.CoreV1().Nodes().Get(ctx, claim.Annotations[selectedNode], metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		claim = claim.DeepCopy()
		delete(claim.Annotations, selectedNode)
		_, err = client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	zone := node.Labels[corev1.LabelTopologyZone]
	if zone == "" {
		return fmt.Errorf("node %s is in no zone", node.Name)
	}
	filesystem := corev1.PersistentVolumeFilesystem
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "pvc-" + string(claim.UID),
			Annotations: map[string]string{provisionedB: Driver},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      claim.Spec.Resources.Requests,
			AccessModes:                   claim.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              *claim.Spec.StorageClassName,
			VolumeMode:                    &filesystem,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: string(claim.UID)},
			},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{
						Key:      corev1.LabelTopologyZone,
						Operator: corev1.NodeSelectorOpIn,
						Values:   []string{zone},
					}},
				}},
			}},
		},
	}
	_, err = client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
