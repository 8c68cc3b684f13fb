-- What the rules of a run's action found in its log, as far as a worker may say it.
alter table run
  -- The class of failures that the rules put it into.
  add column failure_class text,
  -- [{line, text}], in the order of the log; lines count from 1.
  add column error_lines jsonb not null default '[]',
  -- {name: {value, min, max}}: what the log told, and what was allowed.
  add column numbers jsonb not null default '{}',
  add constraint a_failure_class_is_named_like_one
    check (failure_class ~ '^[a-z][a-z0-9_-]{0,63}$'),
  add constraint only_a_failure_has_a_class
    check (failure_class is null or (outcome is not null and outcome <> 'succeeded')),
  add constraint error_lines_are_a_short_list
    check (jsonb_typeof(error_lines) = 'array' and octet_length(error_lines::text) <= 256 * 1024),
  add constraint numbers_are_a_small_map
    check (jsonb_typeof(numbers) = 'object' and octet_length(numbers::text) <= 64 * 1024);
