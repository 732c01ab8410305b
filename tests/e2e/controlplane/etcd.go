package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// etcd takes the few flags of etcd that the plane uses.
func etcd() int {
	dir := flag.String("data-dir", "", "where it keeps its data")
	client := flag.String("listen-client-urls", "", "for the API server")
	flag.String("advertise-client-urls", "", "the same")
	peer := flag.String("listen-peer-urls", "", "for other members, of which there are none")
	unsafeNoSync := flag.Bool("unsafe-no-fsync", false, "a machine that crashes may take the data with it")
	flag.Parse()

	config := embed.NewConfig()
	config.Dir = *dir
	config.LogLevel = "error"
	config.UnsafeNoFsync = *unsafeNoSync
	for _, given := range []struct {
		text string
		into []*[]url.URL
	}{
		{*client, []*[]url.URL{&config.ListenClientUrls, &config.AdvertiseClientUrls}},
		{*peer, []*[]url.URL{&config.ListenPeerUrls, &config.AdvertisePeerUrls}},
	} {
		parsed, err := url.Parse(given.text)
		if err != nil {
			fmt.Fprintln(os.Stderr, "etcd:", err)
			return 2
		}
		for _, urls := range given.into {
			*urls = []url.URL{*parsed}
		}
	}
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	server, err := embed.StartEtcd(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case err = <-server.Err():
		fmt.Fprintln(os.Stderr, "etcd:", err)
		return 1
	case <-stop:
		server.Close()
		return 0
	}
}
