-- Whether the farm's access setting (open, public or private) was chosen. The setting itself is the grants of
-- `anyone`: see src/access/access-setting.ts. A new farm gets its setting when its first server starts.
create table access_choice (
  is_the_only_one boolean primary key default true,
  chosen_at timestamptz not null,
  chosen_by text not null,
  constraint access_is_chosen_once check (is_the_only_one)
);

-- A farm that was used before this migration keeps the grants that it has.
insert into access_choice (chosen_at, chosen_by)
select now(), 'grange'
where exists (select from farm)
   or exists (select from principal where name <> 'anyone')
   or exists (select from repository)
   or exists (select from execution)
   or exists (select from invocation)
   or exists (select from cache_entry)
   or (select count(*) from grant_rule) <> 2;
