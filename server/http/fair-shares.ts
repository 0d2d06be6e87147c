/** What a response holds until it has ended: a request slot, a subscription, or a rejection that is not sent yet. */
export interface Releasable {
  release(): void;
}

/** A top-level tenant with its descendants, or all callers whose address counts instead of a tenant (`WITHOUT_TOKEN`). */
interface Group {
  readonly name: string;
  held: number;
  /** How many members hold something. */
  activeMembers: number;
}

/** A tenant, or the address of callers without a token or with a refused API key. */
export class Member implements Releasable {
  readonly name: string;
  group: Group;
  held = 0;
  private readonly shares: FairShares;

  constructor(shares: FairShares, name: string, group: Group) {
    this.shares = shares;
    this.name = name;
    this.group = group;
  }

  release(): void {
    this.shares.remove(this);
    this.shares.released++;
  }
}

/** Members that hold nothing are dropped when there are more than this. */
const MAX_MEMBERS = 10_000;

/**
 * Counts what each member holds, and divides a limit fairly: equally between the groups that hold something, and the share
 * of a group equally between its members.
 */
export class FairShares {
  held = 0;
  /** How many times something was released; the owner resets it. */
  released = 0;
  private activeGroups = 0;
  private readonly members = new Map<string, Member>();
  private readonly groups = new Map<string, Group>();

  find(name: string): Member | undefined {
    return this.members.get(name);
  }

  create(name: string, groupName: string): Member {
    if (this.members.size >= MAX_MEMBERS) this.dropIdle();
    const member = new Member(this, name, this.groupOf(groupName));
    this.members.set(name, member);
    return member;
  }

  add(member: Member): void {
    const { group } = member;
    if (group.held++ === 0) this.activeGroups++;
    if (member.held++ === 0) group.activeMembers++;
    this.held++;
  }

  remove(member: Member): void {
    const { group } = member;
    this.held--;
    if (--member.held === 0) group.activeMembers--;
    if (--group.held === 0) this.activeGroups--;
  }

  /**
   * Whether a member may hold one more although the limit is reached. Every member of a group below its share may. If the
   * group has used up its share, a member below its own share still may, so that one tenant cannot take all of the group's
   * share. That way a group can have up to twice its share, however many members it has.
   */
  isBelowShare({ group, held }: Member, limit: number): boolean {
    const groupShare = limit / this.activeGroups;
    // A group that holds nothing does not count among the active ones yet, but it is below any share.
    if (group.held < groupShare) return true;
    return held < groupShare / group.activeMembers && group.held < 2 * groupShare;
  }

  /** Moves a member, with all that it holds, to another group. */
  move(member: Member, groupName: string): void {
    if (groupName === member.group.name) return;
    const { held } = member;
    for (let n = 0; n < held; n++) this.remove(member);
    member.group = this.groupOf(groupName);
    for (let n = 0; n < held; n++) this.add(member);
  }

  *active(): Generator<Member> {
    for (const member of this.members.values()) if (member.held > 0) yield member;
  }

  private groupOf(name: string): Group {
    const known = this.groups.get(name);
    if (known) return known;
    const group = { name, held: 0, activeMembers: 0 };
    this.groups.set(name, group);
    return group;
  }

  private dropIdle(): void {
    for (const [name, { held }] of this.members) if (held === 0) this.members.delete(name);
    const used = new Set(Array.from(this.members.values(), ({ group }) => group));
    for (const [name, group] of this.groups) if (!used.has(group)) this.groups.delete(name);
  }
}
