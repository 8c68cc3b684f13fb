-- The code says which kinds of forges there are (src/forge/forge-kinds.ts): a new one needs no migration.
alter table forge_repository drop constraint a_forge_is_known;
alter table forge_repository
  add constraint a_kind_of_forge_is_a_name check (kind ~ '^[a-z][a-z0-9-]{0,31}$');

-- Slugs and ids of webhooks are names that a forge gives: two forges may give the same ones.
alter table forge_delivery add column kind text not null default 'github';
alter table forge_delivery alter column kind drop default;
alter table forge_delivery drop constraint forge_delivery_pkey;
alter table forge_delivery add primary key (kind, id);
drop index forge_delivery_waiting;
create index forge_delivery_waiting on forge_delivery (kind, slug, next_at) where state = 'waiting';
drop index forge_delivery_by_body;
create index forge_delivery_by_body on forge_delivery (kind, body_hash, received_at)
  where body_hash is not null;

alter table forge_redelivery add column kind text not null default 'github';
alter table forge_redelivery alter column kind drop default;
alter table forge_redelivery drop constraint forge_redelivery_pkey;
alter table forge_redelivery add primary key (kind, id);

alter table forge_delivery_mark add column kind text not null default 'github';
alter table forge_delivery_mark alter column kind drop default;
alter table forge_delivery_mark drop column only_one;
alter table forge_delivery_mark add primary key (kind);
