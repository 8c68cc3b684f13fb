-- When the last connection of a build tool closed: a tool that sends no build events never says that it has ended.
-- It counts until the tool is heard again.
alter table invocation add column left_at timestamptz;
