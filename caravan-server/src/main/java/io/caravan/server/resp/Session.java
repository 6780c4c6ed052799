package io.caravan.server.resp;

/** What a client has told of itself over one connection. The event loop's alone. */
final class Session {
    private final long id;
    private String name = "";
    private boolean quitting;

    Session(long id) {
        this.id = id;
    }

    /** The connection's number, which no other has. */
    long id() {
        return id;
    }

    String name() {
        return name;
    }

    void name(String newName) {
        name = newName;
    }

    /** Whether the connection ends after the answers to all that came so far. */
    boolean quitting() {
        return quitting;
    }

    void quit() {
        quitting = true;
    }
}
