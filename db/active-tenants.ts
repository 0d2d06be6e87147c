/** A tenant counts as active for this long after each of its requests. */
const ACTIVE_MS = 1_000;

/** Knows whether several tenants use the database at present. It remembers no more than the last two. */
export class ActiveTenants {
  private readonly now: () => number;
  private last = { tenantId: '', at: Number.NEGATIVE_INFINITY };
  /** When a tenant other than the last one used the database for the last time. */
  private othersAt = Number.NEGATIVE_INFINITY;

  constructor(now = () => performance.now()) {
    this.now = now;
  }

  /** Records that a tenant uses the database. */
  add(tenantId: string): void {
    const now = this.now();
    if (tenantId !== this.last.tenantId) {
      this.othersAt = this.last.at;
      this.last = { tenantId, at: now };
    } else this.last.at = now;
  }

  areOthersActive(tenantId: string): boolean {
    return this.othersActiveMs(tenantId) > 0;
  }

  /** Returns how many milliseconds other tenants will still count as active. At most 0 if no other tenant is active. */
  othersActiveMs(tenantId: string): number {
    const at = tenantId === this.last.tenantId ? this.othersAt : this.last.at;
    return at + ACTIVE_MS - this.now();
  }
}
