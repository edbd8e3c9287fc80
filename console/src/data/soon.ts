// How long a key press waits for the data it acts on.
const waitMs = 2_000;

// Resolves to null if the read fails or takes too long.
export function soon<T>(reading: Promise<T>): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<T | null>();
  const timer = setTimeout(() => resolve(null), waitMs);
  reading.then(resolve, () => resolve(null)).finally(() => clearTimeout(timer));
  return promise;
}
