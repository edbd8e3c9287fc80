import { itemPage, items, listPage, pages, type Item } from "./pages.ts";
import type { Payment } from "./payments.ts";
import type { Habits, Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Visit } from "./visit.ts";

// What people do in a shop. Each errand continues from where the visit is.

export function browse(visit: Visit, pagesWanted: number): void {
  for (let seen = 0; seen < pagesWanted; seen++) {
    const { random } = visit;
    if (random.chance(0.4)) {
      visit.to(listPage(random), 16_000);
      continue;
    }
    const item = random.pick(items);
    visit.to(itemPage(item), 14_000).act("view_item", 900, {}, [item]);
    if (random.chance(0.25)) visit.act("view_gallery", 5000, { item_id: item.id });
    if (random.chance(0.15)) visit.act("read_reviews", 9000, { item_id: item.id });
    if (random.chance(0.14)) putInCart(visit, item);
  }
}

function putInCart(visit: Visit, item: Item): void {
  visit.act("add_to_cart", 7000, { _value: item.price, _currency: "EUR" }, [item]);
}

// Everybody has a usual amount. Now and then it is much larger.
export function usualAmount(random: Random, { amountMedian, amountSigma }: Habits): number {
  const scale = random.chance(0.025) ? random.between(4, 12) : 1;
  return cents(random.logNormal(amountMedian, amountSigma) * scale);
}

export function cents(amount: number): number {
  return Math.max(1, Math.round(amount * 100) / 100);
}

export function buy(visit: Visit, amount: number, currency: string, payment: Payment = {}): void {
  const { random } = visit;
  const item = random.pick(items);
  visit.to(itemPage(item)).act("view_item", 900, {}, [item]);
  putInCart(visit, item);
  visit.to(pages.cart, 9000).to(pages.checkout, 12_000).act("choose_payment", 14_000);
  visit.pause(9000);
  const order = { amount, currency, order_id: `o-${random.hex(1)}`, method: random.pick(["card", "wallet", "invoice"]) };
  visit.report("payment", order, payment);
  visit.to(pages.thanks, 1500);
}

// A marketplace seller transfers money to a bank account, seldom to a new one.
export function payOut(visit: Visit, amount: number, currency: string, isNewPayee: boolean): void {
  visit.to(pages.account, 9000).to(pages.wallet, 8000);
  if (isNewPayee) visit.act("open_payees", 6000).pause(40_000).report("payee_added", { country: "DE" });
  visit.act("open_transfer", 6000).pause(15_000).report("transfer", { amount, currency });
}

const changes = { password_changed: 0.5, email_changed: 0.15, mfa_changed: 0.25, payee_added: 0.1 };

export function changeSecurity(visit: Visit, type = visit.random.pickShare(changes)): void {
  visit.to(pages.account, 9000).to(pages.security, 8000).act("open_form", 5000).pause(25_000);
  const isMail = type === "email_changed";
  visit.report(type, isMail ? { email_domain: "mail.example" } : type === "password_changed" ? { method: "form" } : {});
}

export function resetPassword(visit: Visit): void {
  visit.to(pages.forgotten, 5000).pause(75_000).report("password_changed", { method: "reset" });
}

// The log-in form, with this person's typing errors on this device. A few give up.
export function passLogIn(visit: Visit, person: Person): boolean {
  const { random, habits } = person;
  visit.to(pages.login, 7000);
  let wrong = 0;
  if (person.isLockedOut) wrong = random.whole(2, 5);
  else while (wrong < 6 && random.chance(wrong === 0 ? habits.typos : 0.42)) wrong++;
  for (let n = 0; n < wrong; n++) visit.failLogIn();
  if (person.isLockedOut || (wrong >= 2 && random.chance(0.3)) || wrong === 6) {
    if (random.chance(0.12)) return false;
    resetPassword(visit);
    person.isLockedOut = false;
  }
  visit.logIn(wrong === 0 ? 8000 : 5000);
  return true;
}
