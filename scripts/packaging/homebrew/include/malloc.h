/* macOS has none; what it does there is a hint. */
#ifndef TAFFRAIL_SCRIPTS_PACKAGING_HOMEBREW_INCLUDE_MALLOC_H
#define TAFFRAIL_SCRIPTS_PACKAGING_HOMEBREW_INCLUDE_MALLOC_H

#define malloc_trim(padding) ((void)(padding))

#endif
