/** A branch of the tenant tree, with the number of slots that are in use in it. */
interface Branch {
  used: number;
  children: Map<string, Branch>;
}

const newBranch = (): Branch => ({ used: 0, children: new Map() });

/**
 * A number of slots that the branches of the tenant tree share. At every level of the tree, a branch may occupy at most two
 * thirds of what it occupies already and what its siblings leave free. So however many tenants an administrator creates below
 * their own, and however long their receivers take, the next tenant of another branch finds a free slot.
 */
export class FairSlots {
  private readonly limit: number;
  private readonly root = newBranch();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Takes a slot for a tenant. Returns a function that releases it, or undefined if one of its branches is full. */
  take(path: readonly string[]): (() => void) | undefined {
    const names = branchesOf(path);
    const full = new Set(this.fullBranches());
    if (this.root.used >= this.limit || names.some((name) => full.has(name))) return undefined;
    this.count(names, 1);
    return () => this.count(names, -1);
  }

  /** Whether no branch gets another slot. */
  get isFull(): boolean {
    return this.root.used >= this.limit;
  }

  /** The branches that get no other slot: the code of a tenant, or `=` and its code for the tenant without those below it. */
  fullBranches(): string[] {
    const full: string[] = [];
    const visit = ({ used, children }: Branch, limit: number) => {
      for (const [name, child] of children) {
        const share = Math.ceil(((child.used + limit - used) * 2) / 3);
        if (child.used >= share) full.push(name);
        else visit(child, share);
      }
    };
    visit(this.root, this.limit);
    return full;
  }

  private count(names: readonly string[], change: 1 | -1): void {
    let branch = this.root;
    branch.used += change;
    for (const name of names) {
      const child = branch.children.get(name) ?? newBranch();
      child.used += change;
      if (child.used > 0) branch.children.set(name, child);
      else branch.children.delete(name);
      branch = child;
    }
  }
}

/** All tenants are below 000000, so the branches begin at the second level. The tenant itself is a branch beside its children. */
const branchesOf = (path: readonly string[]): string[] => [...path.slice(1), `=${path.at(-1)}`];
