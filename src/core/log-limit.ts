/**
 * The longest log that the farm stores, in bytes: the limit of a worker's setting, and of the table for logs in
 * progress. The table must hold what the worker stores, so that both have the same bytes at the same offsets.
 */
export const longestLogBytes = 256 * 1024 * 1024;
