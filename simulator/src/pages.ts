import type { Random } from "./random.ts";

export type Page = { path: string; title: string };
export type Item = { id: string; name: string; category: string; price: number };

const kinds: Record<string, [name: string, price: number][]> = {
  shoes: [
    ["Trail Runner", 119],
    ["Court Sneaker", 89.5],
    ["Leather Boot", 169],
    ["Sandal", 39.9],
  ],
  coats: [
    ["Rain Jacket", 129],
    ["Down Coat", 249],
    ["Denim Jacket", 79.9],
  ],
  bags: [
    ["Daypack", 69],
    ["Weekender", 139],
    ["Messenger Bag", 94.5],
  ],
  home: [
    ["Desk Lamp", 49],
    ["Wool Blanket", 74.9],
    ["Espresso Maker", 329],
    ["Mug Set", 24.9],
  ],
  sound: [
    ["Headphones", 199],
    ["Bookshelf Speaker", 279],
    ["Turntable", 399],
    ["Earbuds", 89],
  ],
  gifts: [
    ["Gift Card 50", 50],
    ["Gift Card 100", 100],
  ],
};

export const items: readonly Item[] = Object.entries(kinds).flatMap(([category, list]) =>
  list.map(([name, price], index) => ({ id: `${category}-${index + 1}`, name, category, price })),
);

const searches = ["running", "gift", "black", "wool", "speaker", "rain", "sale"];

export const pages = {
  home: { path: "/", title: "Larkfield" },
  login: { path: "/login", title: "Log in" },
  signUp: { path: "/join", title: "Create your account" },
  forgotten: { path: "/login/reset", title: "Choose a new password" },
  cart: { path: "/cart", title: "Your cart" },
  checkout: { path: "/checkout", title: "Checkout" },
  thanks: { path: "/checkout/thanks", title: "Thank you" },
  account: { path: "/account", title: "Your account" },
  orders: { path: "/account/orders", title: "Your orders" },
  security: { path: "/account/security", title: "Password and security" },
  wallet: { path: "/account/wallet", title: "Your wallet" },
} as const satisfies Record<string, Page>;

export function itemPage({ id, name }: Item): Page {
  return { path: `/p/${id}`, title: name };
}

export function listPage(random: Random): Page {
  if (random.chance(0.25)) {
    const term = random.pick(searches);
    return { path: `/search?q=${term}`, title: `Results for ${term}` };
  }
  const category = random.pick(Object.keys(kinds));
  return { path: `/c/${category}`, title: category };
}
