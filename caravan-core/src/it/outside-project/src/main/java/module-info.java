/** Somebody else's module. */
module com.example.outside {
    requires io.caravan.core;
}
