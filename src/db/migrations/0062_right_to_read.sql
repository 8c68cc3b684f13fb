-- Reading needs a right of its own. Everybody keeps it until somebody takes it away:
-- `grange grant remove anyone read`.
alter table grant_rule drop constraint a_verb_is_known;
alter table grant_rule add constraint a_verb_is_known check (verb in
  ('*', 'read', 'submit', 'cancel', 'retrigger', 'waive', 'activate', 'release', 'customise',
   'prioritise', 'clone', 'report', 'define', 'sign', 'execute', 'cache', 'benchmark', 'measure',
   'administer', 'work', 'secret', 'forge'));
insert into grant_rule (principal, verb, created_by) values ('anyone', 'read', 'grange')
  on conflict do nothing;
