-- Build tools may name blobs by other functions than SHA-256. Their hashes have the function before them: blake3-….
-- Graphs, catalogs and definitions stay with SHA-256, and so do their constraints.
alter table action_result drop constraint an_action_digest_is_a_hash_and_a_size;
alter table action_result add constraint an_action_digest_is_a_hash_and_a_size
  check (action_digest ~ '^((blake3-)?[0-9a-f]{64}|sha1-[0-9a-f]{40}|sha384-[0-9a-f]{96}|sha512-[0-9a-f]{128}|md5-[0-9a-f]{32})/[0-9]+$');
