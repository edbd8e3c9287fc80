// How long a key that was pressed waits for what it acts on.
const waitMs = 2_000;

// Null where it could not be read, or not soon enough.
export function soon<T>(reading: Promise<T>): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<T | null>();
  const timer = setTimeout(() => resolve(null), waitMs);
  reading.then(resolve, () => resolve(null)).finally(() => clearTimeout(timer));
  return promise;
}
