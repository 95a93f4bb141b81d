"""The command line: ``main`` puts the commands together, one ``*_cmd`` file each; the others do and show what a command says."""
