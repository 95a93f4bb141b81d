"""The web server of the annotation app: the process that holds the store, access control, and the login pages."""
