const storageName = "casehound.tenant";

// The tenant that this browser signed in to last. Its identity providers are offered next time.
export function lastTenant(): string | undefined {
  return localStorage.getItem(storageName) ?? undefined;
}

export function rememberTenant(slug: string): void {
  localStorage.setItem(storageName, slug);
}
