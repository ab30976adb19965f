"""Past one file and one machine: folders of files worked on part by part, here or on a Ray cluster."""
