import type { Links } from './roles.ts';
import { compareIds } from './tree.ts';
import type { Values } from './values.ts';

/** The maximum length of a user's position in Banyan. */
const MAX_LENGTH = 100;

/**
 * Returns the names of a user's posts as one text, in the order in which RuoYi lists them. Disabled posts are included: RuoYi
 * still shows them for the users who have them. Undefined if the database has no posts.
 */
export function positionOf({ posts, postsOfUser }: Links, tenant: string, userId: string, values: Values) {
  if (!posts) return undefined;
  const held = [...new Set(postsOfUser.get(userId))].flatMap((id) => {
    const post = posts.get(id);
    if (post?.tenant_id?.trim() === tenant) return [{ id, post }];
    values.report('postLink', `post ${id}`);
    return [];
  });
  const order = (sort: string | null) => Number(sort) || 0;
  held.sort((a, b) => order(a.post.post_sort) - order(b.post.post_sort) || compareIds(a.id, b.id));
  // Departments may have posts of the same name.
  const names = new Set(held.map(({ post }) => post.post_name?.trim()).filter(Boolean));
  return values.text([...names].join('、'), MAX_LENGTH)?.replace(/、$/, '') ?? null;
}
