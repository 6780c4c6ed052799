/**
 * Authentication and permissions. A client presents a secret; an {@link io.caravan.server.security.Authenticator} finds
 * its {@link io.caravan.server.security.Principal}, which the protocols check before each operation. Secrets come from
 * a file that is reloaded when it changes ({@link io.caravan.server.security.Authenticator#ofSecrets}), and are kept only as
 * digests.
 */
@NullMarked
package io.caravan.server.security;

import org.jspecify.annotations.NullMarked;
