package io.caravan.server.cli.client;

import io.caravan.server.document.Whereabouts;
import java.util.OptionalLong;

/** The steps by which a document is moved away from a server; each is durable on return. */
public interface MoveSteps {
    /**
     * Has the server refuse all other changes of a document.
     *
     * @param holder distinguishes this run of the move
     * @throws ClientException when there is no document, or it cannot be moved
     */
    void fence(byte[] name, long holder, Whereabouts to);

    /**
     * Deletes a document that this run has fenced, and leaves a redirect.
     *
     * @throws ClientException when another run has fenced it since, or its move was abandoned
     */
    void redirect(byte[] name, long holder);

    /** Takes away the fence of a run, or of any; returns whether there was one. */
    boolean abandon(byte[] name, OptionalLong holder);

    /** Removes a redirect; returns whether there was one. */
    boolean forget(byte[] name);
}
