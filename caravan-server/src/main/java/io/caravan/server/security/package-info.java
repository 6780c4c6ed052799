/**
 * Authentication and permissions: a client shows a secret; an {@link io.caravan.server.security.Authenticator} finds
 * its {@link io.caravan.server.security.Principal}, which the protocols consult before they do anything. Secrets come
 * from a file that is read again when it changes ({@link io.caravan.server.security.FileAuthenticator}), and are kept
 * as digests only ({@link io.caravan.server.security.Credentials}).
 */
@NullMarked
package io.caravan.server.security;

import org.jspecify.annotations.NullMarked;
