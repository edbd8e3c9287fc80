const domainCharactersMax = 253;

// Returns what the addresses of one person's many mailboxes have in common: the domain, and the local part without digits, dots
// and what follows a plus sign. Null if nothing is left.
export function mailboxShape(email: string): string | null {
  const at = email.lastIndexOf("@");
  const domain = email.slice(at + 1).toLowerCase();
  const local = email.slice(0, Math.max(at, 0)).toLowerCase();
  const letters = local.replace(/\+.*$/s, "").replace(/[\d.]/g, "");
  return at < 1 || domain === "" || domain.length > domainCharactersMax || letters === "" ? null : `${letters}@${domain}`;
}
