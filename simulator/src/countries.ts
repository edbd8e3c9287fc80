// Where people and networks are. Offsets are standard time; the simulation has no daylight saving time.
export type City = { name: string; latitude: number; longitude: number; weight: number };
export type Country = {
  code: string;
  // The relative number of the shop's customers, and of attackers on the internet, in this country.
  customers: number;
  attackers: number;
  zoneMinutes: number;
  zone: string;
  locale: string;
  currency: string;
  cities: City[];
};

// Code, customers, attackers, minutes from UTC, zone, locale, currency; then the cities with latitude, longitude and weight.
const table = `
DE 46 4 60 Europe/Berlin de-DE EUR: Berlin 52.52 13.4 4, Hamburg 53.55 9.99 2, Munich 48.14 11.58 2, Cologne 50.94 6.96 2
AT 8 1 60 Europe/Vienna de-AT EUR: Vienna 48.21 16.37 4, Graz 47.07 15.44 1, Linz 48.31 14.29 1
CH 6 1 60 Europe/Zurich de-CH CHF: Zurich 47.38 8.54 3, Geneva 46.2 6.15 1, Basel 47.56 7.59 1
FR 10 3 60 Europe/Paris fr-FR EUR: Paris 48.86 2.35 5, Lyon 45.76 4.84 1, Marseille 43.3 5.37 1, Lille 50.63 3.06 1
NL 7 4 60 Europe/Amsterdam nl-NL EUR: Amsterdam 52.37 4.9 3, Rotterdam 51.92 4.48 2, Eindhoven 51.44 5.48 1
GB 7 4 0 Europe/London en-GB GBP: London 51.51 -0.13 5, Manchester 53.48 -2.24 2, Edinburgh 55.95 -3.19 1
PL 5 3 60 Europe/Warsaw pl-PL PLN: Warsaw 52.23 21.01 3, Krakow 50.06 19.94 2, Gdansk 54.35 18.65 1
ES 4 2 60 Europe/Madrid es-ES EUR: Madrid 40.42 -3.7 3, Barcelona 41.39 2.17 3, Palma 39.57 2.65 1
IT 4 2 60 Europe/Rome it-IT EUR: Rome 41.9 12.5 2, Milan 45.46 9.19 3, Naples 40.85 14.27 1
US 3 12 -300 America/New_York en-US USD: New York 40.71 -74.01 3, Ashburn 39.04 -77.49 1, Chicago 41.88 -87.63 2, Miami 25.76 -80.19 1
PT 0.5 1 0 Europe/Lisbon pt-PT EUR: Lisbon 38.72 -9.14 2, Porto 41.15 -8.61 1
GR 0.3 1 120 Europe/Athens el-GR EUR: Athens 37.98 23.73 3, Heraklion 35.34 25.13 1
TR 0.5 4 180 Europe/Istanbul tr-TR TRY: Istanbul 41.01 28.98 4, Antalya 36.9 30.71 2
RO 0.4 5 120 Europe/Bucharest ro-RO RON: Bucharest 44.43 26.1 3, Cluj 46.77 23.59 1
UA 0.2 5 120 Europe/Kyiv uk-UA UAH: Kyiv 50.45 30.52 3, Lviv 49.84 24.03 1
RU 0 10 180 Europe/Moscow ru-RU RUB: Moscow 55.76 37.62 3, Novosibirsk 55.03 82.92 1
NG 0 6 60 Africa/Lagos en-NG NGN: Lagos 6.52 3.38 3, Abuja 9.06 7.5 1
IN 0.2 8 330 Asia/Kolkata en-IN INR: Mumbai 19.08 72.88 2, Delhi 28.61 77.21 2, Chennai 13.08 80.27 1
ID 0 7 420 Asia/Jakarta id-ID IDR: Jakarta -6.21 106.85 3, Denpasar -8.65 115.22 1
VN 0 8 420 Asia/Ho_Chi_Minh vi-VN VND: Ho Chi Minh City 10.82 106.63 2, Hanoi 21.03 105.85 2
TH 0.2 3 420 Asia/Bangkok th-TH THB: Bangkok 13.76 100.5 3, Phuket 7.88 98.39 1
BR 0 9 -180 America/Sao_Paulo pt-BR BRL: Sao Paulo -23.55 -46.63 3, Rio de Janeiro -22.91 -43.17 2
`;

function parseCity(text: string): City {
  const words = text.trim().split(" ");
  const [latitude = 0, longitude = 0, weight = 0] = words.slice(-3).map(Number);
  return { name: words.slice(0, -3).join(" "), latitude, longitude, weight };
}

function parseCountry(line: string): Country {
  const [head = "", cities = ""] = line.split(": ");
  const [code = "", customers, attackers, zoneMinutes, zone = "", locale = "", currency = ""] = head.split(" ");
  return {
    code,
    customers: Number(customers),
    attackers: Number(attackers),
    zoneMinutes: Number(zoneMinutes),
    zone,
    locale,
    currency,
    cities: cities.split(",").map(parseCity),
  };
}

export const countries: readonly Country[] = table.trim().split("\n").map(parseCountry);

type Coordinates = { latitude: number; longitude: number };

// Great-circle distance on a sphere, accurate to half a percent.
export function distanceKm(from: Coordinates, to: Coordinates): number {
  const radians = Math.PI / 180;
  const [a, b] = [from.latitude * radians, to.latitude * radians];
  const half = Math.sin((b - a) / 2) ** 2;
  const across = Math.sin(((to.longitude - from.longitude) * radians) / 2) ** 2;
  return 12_742 * Math.asin(Math.sqrt(Math.min(1, half + Math.cos(a) * Math.cos(b) * across)));
}
