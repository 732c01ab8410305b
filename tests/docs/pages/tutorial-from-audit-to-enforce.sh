# cluster
