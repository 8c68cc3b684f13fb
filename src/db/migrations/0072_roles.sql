-- Named sets of verbs. A grant of `role:NAME` gives all verbs of the role, also those that it gets later.
create table role (
  name text primary key,
  verbs text[] not null,
  -- Those that the farm brings cannot be changed.
  built_in boolean not null default false,
  set_at timestamptz not null default now(),
  set_by text not null,
  constraint a_role_has_a_plain_name check (name ~ '^[a-z][a-z0-9-]{0,31}$'),
  constraint a_role_has_verbs check (cardinality(verbs) > 0),
  constraint verbs_of_a_role_are_known check (verbs <@ array[
    '*', 'read', 'read-logs', 'read-sources', 'read-audit', 'submit', 'cancel', 'retrigger', 'waive', 'activate',
    'release', 'customise', 'prioritise', 'clone', 'report', 'define', 'sign', 'execute', 'cache', 'upload',
    'benchmark', 'measure', 'administer', 'work', 'secret', 'forge'])
);
insert into role (name, verbs, built_in, set_by) values
  ('viewer', '{read,read-logs,read-sources}', true, 'grange'),
  ('developer', '{read,read-logs,read-sources,submit,cancel,retrigger,activate,release,customise,clone,execute}',
   true, 'grange'),
  ('maintainer', '{read,read-logs,read-sources,submit,cancel,retrigger,activate,release,customise,clone,execute,waive,prioritise,define,cache,report,secret}',
   true, 'grange'),
  ('operator', '{read,read-logs,read-sources,read-audit,cancel,prioritise,benchmark,forge}', true, 'grange'),
  ('owner', '{*}', true, 'grange');

alter table grant_rule drop constraint a_verb_is_known;
alter table grant_rule add constraint a_verb_is_known check (verb ~ '^role:[a-z][a-z0-9-]{0,31}$' or verb in
  ('*', 'read', 'read-logs', 'read-sources', 'read-audit', 'submit', 'cancel', 'retrigger', 'waive', 'activate',
   'release', 'customise', 'prioritise', 'clone', 'report', 'define', 'sign', 'execute', 'cache', 'upload',
   'benchmark', 'measure', 'administer', 'work', 'secret', 'forge'));
