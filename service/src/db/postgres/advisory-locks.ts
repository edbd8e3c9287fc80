// Every advisory lock, with its number. Two locks with the same number would wait for each other. The numbers mean nothing, but
// all processes on one database must agree on them. A test checks that nothing else takes an advisory lock.
export const advisoryLocks = {
  migrations: 4_812_201,
  // In the embedded database: held by the one service on the folder.
  service: 4_812_202,
  // In the embedded database: shared by everybody who uses it, and exclusive for whoever stops it.
  users: 4_812_203,
  tenantRole: 4_812_204,
  expiry: 4_812_205,
  partitions: 4_812_206,
} as const;
