-- Room on each page for the next version of its rows. An update that stays on its page writes to no index. Otherwise every new
-- session of an account writes to three, and one of them has an entry for each three letters of the account's id.
alter table accounts set (fillfactor = 70);
