/**
 * The sources of settings: the command line, the environment, and a file ({@link io.caravan.server.config.Settings});
 * and files that are reloaded when they change ({@link io.caravan.server.config.FileWatch}).
 */
@NullMarked
package io.caravan.server.config;

import org.jspecify.annotations.NullMarked;
