-- The SHA-256 of a webhook's body, in hex: its signature covers that, and not the id under which it comes. Null for
-- those from before, and for what came by no webhook.
alter table forge_delivery add column body_hash text;
-- Serves finding the same body under another id.
create index forge_delivery_by_body on forge_delivery (body_hash, received_at) where body_hash is not null;
