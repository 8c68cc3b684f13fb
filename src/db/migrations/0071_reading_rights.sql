-- Logs, sources and the audit log have rights of their own, and so have uploads of blobs. Who may read today keeps
-- logs and sources.
alter table grant_rule drop constraint a_verb_is_known;
alter table grant_rule add constraint a_verb_is_known check (verb in
  ('*', 'read', 'read-logs', 'read-sources', 'read-audit', 'submit', 'cancel', 'retrigger', 'waive', 'activate',
   'release', 'customise', 'prioritise', 'clone', 'report', 'define', 'sign', 'execute', 'cache', 'upload',
   'benchmark', 'measure', 'administer', 'work', 'secret', 'forge'));
insert into grant_rule (principal, verb, repository, branch, priority_cap, top, pool, label, size_class_cap,
  cost_cap, created_by)
select principal, reading.verb, repository, branch, priority_cap, top, pool, label, size_class_cap, cost_cap,
  created_by
from grant_rule cross join (values ('read-logs'), ('read-sources')) as reading (verb)
where grant_rule.verb = 'read'
on conflict do nothing;
