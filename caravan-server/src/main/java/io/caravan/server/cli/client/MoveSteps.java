package io.caravan.server.cli.client;

import io.caravan.server.document.Whereabouts;
import java.util.OptionalLong;

/** The steps that move a document away from a server; each is durable on return. */
public interface MoveSteps {
    /**
     * Fences a document, so that the server rejects all other writes to it.
     *
     * @param holder identifies this run of the move
     * @throws ClientException if the document does not exist or cannot be moved
     */
    void fence(byte[] name, long holder, Whereabouts to);

    /**
     * Deletes a document that this run has fenced, and leaves a redirect.
     *
     * @throws ClientException if another run has fenced it since, or its move was abandoned
     */
    void redirect(byte[] name, long holder);

    /** Removes the fence of one run, or of any run; returns whether one existed. */
    boolean abandon(byte[] name, OptionalLong holder);

    /** Removes a redirect; returns whether one existed. */
    boolean forget(byte[] name);
}
