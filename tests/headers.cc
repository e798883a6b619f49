// Nothing but what is precompiled for every program of tests.
