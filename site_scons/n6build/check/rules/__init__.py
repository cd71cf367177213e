"""The checks: functions with id, title and severity, in any module of this folder."""
