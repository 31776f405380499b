"""`vscodelm replay`: explain how recorded requests are routed."""
