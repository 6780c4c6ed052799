package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.security.Permission;

/** The target of a subscription: a channel, or all channels that match a pattern. */
public sealed interface Topic {
    byte[] toBytes();

    /** Returns the length of the pattern; 0 for a channel. */
    default int patternBytes() {
        return 0;
    }

    /** Returns the approximate memory that a subscription takes, in bytes. */
    long heldBytes();

    /**
     * Throws a {@link CommandException} unless the user may read the channel, or all channels that the pattern can
     * match.
     */
    void requireReadable(Session session);

    /** A single channel. */
    record Named(DocumentName name) implements Topic {
        @Override
        public byte[] toBytes() {
            return name.toBytes();
        }

        @Override
        public long heldBytes() {
            return 448 + name.toBytes().length;
        }

        @Override
        public void requireReadable(Session session) {
            session.require(Permission.READ, name);
        }
    }

    /** The channels that match a pattern. */
    record Matching(Glob pattern) implements Topic {
        @Override
        public byte[] toBytes() {
            return pattern.toBytes();
        }

        @Override
        public int patternBytes() {
            return pattern.length();
        }

        @Override
        public long heldBytes() {
            return 4 * 1024;
        }

        @Override
        public void requireReadable(Session session) {
            session.requireAll(Permission.READ, pattern);
        }
    }
}
