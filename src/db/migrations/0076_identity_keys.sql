-- Keys that sign identity tokens of runs. All servers of a farm share them. The newest signs; the older ones verify
-- tokens that are still valid.
create table identity_key (
  id          text primary key,
  -- The public half, as a JSON Web Key.
  public_key  jsonb not null,
  -- The private half (PKCS #8), sealed with the key `sealed_by` of the farm's secrets.
  sealed      bytea not null,
  sealed_by   text not null,
  created_at  timestamptz not null default now()
);
