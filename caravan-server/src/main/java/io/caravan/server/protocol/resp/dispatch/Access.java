package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.security.Permission;
import java.util.List;

/** What the user of a command must be allowed to, on each of the documents that it names. */
public enum Access {
    /** Nothing: who has yet to say who he is may run it. */
    FREE,
    /** Nothing more than to be known to the server. */
    KNOWN,
    READ(Permission.READ),
    WRITE(Permission.WRITE),
    READ_AND_WRITE(Permission.READ, Permission.WRITE),
    ADMIN(Permission.ADMIN);

    private final List<Permission> permissions;

    Access(Permission... permissions) {
        this.permissions = List.of(permissions);
    }

    List<Permission> permissions() {
        return permissions;
    }
}
