// All advisory locks and their numbers. Two locks with the same number would wait for each other. The numbers mean nothing, but
// all processes on one database must agree on them. A test checks that nothing else takes an advisory lock.
export const advisoryLocks = {
  migrations: 4_812_201,
  // In the embedded database: held by the one service that uses the folder.
  service: 4_812_202,
  // In the embedded database: shared by every process that uses it, exclusive for the process that stops it.
  users: 4_812_203,
  tenantRole: 4_812_204,
  expiry: 4_812_205,
  partitions: 4_812_206,
  // Taken together with a second number, for the tenant whose model is being trained.
  training: 4_812_207,
} as const;
