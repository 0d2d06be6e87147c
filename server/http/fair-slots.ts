/** A subtree of the tenant tree, with the number of slots that are in use in it. */
interface Subtree {
  used: number;
  children: Map<string, Subtree>;
}

const newSubtree = (): Subtree => ({ used: 0, children: new Map() });

/**
 * A number of slots that the subtrees of the tenant tree share. At every level of the tree, a subtree may hold at most two
 * thirds of the sum of its own slots and the free slots of that level. So however many tenants an administrator creates below
 * their own, and however long their work takes, the next tenant of another subtree finds a free slot.
 */
export class FairSlots {
  private readonly limit: number;
  private readonly root = newSubtree();

  constructor(limit: number) {
    this.limit = limit;
  }

  /**
   * Takes a slot for a tenant. Returns a function that releases it, or undefined if all slots are in use or a subtree that
   * contains the tenant is full.
   */
  take(path: readonly string[]): (() => void) | undefined {
    return this.takeIn(subtreesOf(path));
  }

  /** The same for subtrees that are named by the caller, each within the one before it. */
  takeIn(names: readonly string[]): (() => void) | undefined {
    const full = new Set(this.fullSubtrees());
    if (this.root.used >= this.limit || names.some((name) => full.has(name))) return undefined;
    this.count(names, 1);
    return () => this.count(names, -1);
  }

  get used(): number {
    return this.root.used;
  }

  /** Whether no subtree gets another slot. */
  get isFull(): boolean {
    return this.root.used >= this.limit;
  }

  /** The subtrees that get no further slot: the code of a tenant, or `=` and its code for the tenant without those below it. */
  fullSubtrees(): string[] {
    const full: string[] = [];
    const visit = ({ used, children }: Subtree, limit: number) => {
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
    let subtree = this.root;
    subtree.used += change;
    for (const name of names) {
      const child = subtree.children.get(name) ?? newSubtree();
      child.used += change;
      if (child.used > 0) subtree.children.set(name, child);
      else subtree.children.delete(name);
      subtree = child;
    }
  }
}

/** All tenants are below 000000, so the subtrees begin at the second level. The tenant itself is a subtree beside its children. */
const subtreesOf = (path: readonly string[]): string[] => [...path.slice(1), `=${path.at(-1)}`];
