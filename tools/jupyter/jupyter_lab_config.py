# How `make lab` sets up JupyterLab for a learner: nbgrader's Validate button and nothing that
# needs a course server, an account or the network. The two files beside this one switch off
# what belongs to an instructor.
c = get_config()  # noqa: F821 (Jupyter defines it)

c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"
