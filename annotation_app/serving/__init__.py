"""The web server of the annotation app: the process that holds the store, who may ask it for what, and the pages of the login."""
