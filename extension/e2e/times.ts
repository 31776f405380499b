// What times tell, where each is another one.

/** Return the middle of the times. */
export function median(times: readonly number[]): number {
  const sorted = ascending(times);
  const half = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** Return what the true median of such times isn't below, by all that these few tell: one who says so is
 * wrong once in forty. It takes no shape of the times for granted. */
export function medianIsAtLeast(times: readonly number[]): number {
  const sorted = ascending(times);
  // How probable it is that at most so many of the times lie below the true median.
  let chance = 0;
  for (let below = 0; below < sorted.length; below++) {
    chance += choose(sorted.length, below) / 2 ** sorted.length;
    if (chance > 1 / 40) {
      return below === 0 ? Number.NEGATIVE_INFINITY : (sorted[below - 1] ?? Number.NaN);
    }
  }
  return Number.NEGATIVE_INFINITY;
}

function choose(all: number, some: number): number {
  return some === 0 ? 1 : (choose(all, some - 1) * (all - some + 1)) / some;
}

function ascending(times: readonly number[]): number[] {
  return [...times].sort((one, other) => one - other);
}
