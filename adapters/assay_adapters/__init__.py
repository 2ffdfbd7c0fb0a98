"""What stands between the suite and the world: clients, backends, administration, faults; one module a broker."""
