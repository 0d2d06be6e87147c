-- For what ends soon, and for lists of tenants in that order.
create index tenants_ending on tenants (end_date, id) where del_flag = '0';
