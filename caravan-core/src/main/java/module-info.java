/** A durable store of append-only byte lists: the engine, to be embedded. */
module io.caravan.core {
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.caravan;
    exports io.caravan.catalog to
            io.caravan.server;
}
