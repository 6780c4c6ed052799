/** A module of an application that embeds the store. */
module com.example.outside {
    requires io.caravan.core;
}
