// The methods that a page may call on `window.casehound`, for sites written in TypeScript.

// The service maps these to activities with the same names. Any other name is a custom activity.
export type ActivityName =
  | "login_succeeded"
  | "login_failed"
  | "signup"
  | "password_changed"
  | "email_changed"
  | "mfa_changed"
  | "payee_added"
  | "payment"
  | "transfer"
  | "logout";

export type Attributes = Record<string, string | number | boolean | null | undefined>;

export type Casehound = {
  // The account that is signed in, or null after a log-out. Setting the same account again only replaces the token, with which
  // the site's server vouches for the account.
  setUserId(id: string | null, options?: { token?: string | null | undefined }): void;
  record(name: ActivityName | (string & Record<never, never>), attributes?: Attributes, items?: Attributes[]): void;
  // Sends waiting events now instead of with the next batch.
  flush(): void;
};

declare global {
  interface Window {
    // Missing if the tag was blocked and the page has no stub.
    casehound?: Casehound;
  }
}
