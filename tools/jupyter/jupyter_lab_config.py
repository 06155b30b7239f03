# JupyterLab's settings for a learner, used by `make lab`: nbgrader's Validate button, and nothing
# that needs a course server, an account or the network. The two other files in this folder switch
# off the instructor's extensions.
c = get_config()  # noqa: F821 (Jupyter defines it)

c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"
