import type { Service } from './service.ts';

/**
 * Keeps logins in progress pending indefinitely. The service treats one as lost after 30 seconds, which may be too short on
 * a slow machine.
 */
export const keepLoginsPending = ({ superuser }: Service) =>
  superuser.unsafe(`
    create function public.keep_pending() returns trigger language plpgsql as $$
    begin
      if new.pending_until > now() then new.pending_until := 'infinity'; end if;
      return new;
    end $$;
    create trigger keep_pending before insert or update on banyan.login_failures
      for each row execute function public.keep_pending();
    create trigger keep_pending before insert or update on banyan.login_addresses
      for each row execute function public.keep_pending()`);
