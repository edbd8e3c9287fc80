// How many processes of one service share its limits.
let processes = 1;

// Called before the limits are read, so before the modules that have them are loaded.
export function shareLimits(among: number): void {
  processes = among;
}

// This process's share of a limit on what may run or wait at once. Connections are spread evenly over the processes, and so is their
// work. `least` is the minimum that a process needs to work at all.
export function partOf(max: number, least = 1): number {
  return Math.max(Math.min(least, max), Math.floor(max / processes));
}
