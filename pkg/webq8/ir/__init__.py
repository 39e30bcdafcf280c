"""What the parts of webq8 hand to each other: frozen data, no behaviour but what ops say of themselves.

bytes --formats--> Graph of each method --passes--> Graph --plan--> Plan --backends--> results
"""
